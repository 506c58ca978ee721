#include "library.h"

#include <dlfcn.h>
#include <stddef.h>

const char *sq_secret_functions_find(void *library, SQSecretFunctions *functions) {
  // dlsym also searches the libraries that libsecret depends on: GObject, GIO and GLib.
#define SQ_FUNCTION(result, name, parameters)                           \
  functions->name = (result(*) parameters)dlsym(library, #name);        \
  if (functions->name == NULL) return #name;
#include "functions.h"
#undef SQ_FUNCTION
  return NULL;
}
