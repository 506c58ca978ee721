#pragma once
#include "secret-types.h"

/// Returns the schema of the SDK's items: its name, and the attributes to find items by.
///
/// A search does not use the schema's name, which gnome-keyring does not know for locked items.
const SecretSchema *sq_account_schema(void);
