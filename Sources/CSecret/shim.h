#pragma once
#include <stddef.h>

#include "secret-types.h"

#include "functions.h"

#include "service.h"

/// What the SDK's items are called, and the attributes they are found by.
///
/// The name is not searched for: gnome-keyring does not know it of an item that is locked.
static inline const SecretSchema *sq_account_schema(void) {
  static const SecretSchema schema = {
      "com.sequencing.oauth.account",
      SECRET_SCHEMA_DONT_MATCH_NAME,
      {
          {"oauth-service", SECRET_SCHEMA_ATTRIBUTE_STRING},
          {"oauth-account", SECRET_SCHEMA_ATTRIBUTE_STRING},
          {"oauth-format", SECRET_SCHEMA_ATTRIBUTE_STRING},
          {NULL, SECRET_SCHEMA_ATTRIBUTE_STRING},
      }};
  return &schema;
}
