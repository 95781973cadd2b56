/* Preloaded: ranks get the processor names that HOCKET_TEST_NAME says; a '#' in it is the launcher's rank. */
#include <stdlib.h>
#include <string.h>

int PMPI_Get_processor_name(char* name, int* length) {
  const char *told = getenv("HOCKET_TEST_NAME"), *rank = getenv("PMI_RANK");
  if (rank == NULL) rank = getenv("PMIX_RANK");
  *name = 0;
  for (const char* from = told != NULL ? told : "nowhere"; *from != 0; ++from)
    if (*from == '#')
      strcat(name, rank != NULL ? rank : "");
    else
      strncat(name, from, 1);
  *length = (int)strlen(name);
  return 0;
}
