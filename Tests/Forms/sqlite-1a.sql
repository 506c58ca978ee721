PRAGMA journal_mode=WAL;
BEGIN;
PRAGMA application_id=1397837633;
PRAGMA user_version=1;
CREATE TABLE accounts (id TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT;
CREATE TABLE meta (name TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT;
INSERT INTO accounts VALUES ('alice', CAST('{"client_id":"client","id":"alice","issuer":"https://id.example","session":"session","token":{"access_token":"access","additional_fields":{},"expiration_date":771696400,"issue_date":771692800,"refresh_token":"refresh","scope":"demo","token_type":"Bearer"},"sha256":"d7b2f0cd9d5274bae913b6cf7d239ed04d9f872ded2f93ac6b138571d18647f1"}' AS BLOB));
COMMIT;
