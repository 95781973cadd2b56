"""Measuring what messages cost on a network: what ``hocket calibrate network`` does."""
