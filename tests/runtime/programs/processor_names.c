/* Preloaded: ranks get the processor names that HOCKET_TEST_NAME says. */
#include <stdlib.h>
#include <string.h>

int PMPI_Get_processor_name(char* name, int* length) {
  const char* told = getenv("HOCKET_TEST_NAME");
  strcpy(name, told != NULL ? told : "nowhere");
  *length = (int)strlen(name);
  return 0;
}
