"""Prints a snapshot as JSON. Loads it as those do who trust no file: nothing may name a global."""

import json
import pickle
import sys


class DataOnly(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"the file names {module}.{name}")


with open(sys.argv[1], "rb") as file:
    json.dump(DataOnly(file).load(), sys.stdout, sort_keys=True)
