#pragma once
#include "secret-types.h"

/// The functions of a loaded library, each under its own name.
typedef struct {
#define SQ_FUNCTION(result, name, parameters) result(*name) parameters;
#include "functions.h"
#undef SQ_FUNCTION
} SQSecretFunctions;

/// Finds all functions in a library that dlopen(3) has loaded.
///
/// Returns NULL on success, or the name of the first function that the library does not have.
const char *sq_secret_functions_find(void *library, SQSecretFunctions *functions);
