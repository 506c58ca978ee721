#include "schema.h"

#include <stddef.h>

static const SecretSchema schema = {
    "com.sequencing.oauth.account",
    SECRET_SCHEMA_DONT_MATCH_NAME,
    {
        {"oauth-service", SECRET_SCHEMA_ATTRIBUTE_STRING},
        {"oauth-account", SECRET_SCHEMA_ATTRIBUTE_STRING},
        {"oauth-format", SECRET_SCHEMA_ATTRIBUTE_STRING},
        {NULL, SECRET_SCHEMA_ATTRIBUTE_STRING},
    }};

const SecretSchema *sq_account_schema(void) { return &schema; }
