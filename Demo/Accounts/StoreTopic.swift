/// The text of `help stores`, about the places where accounts are kept.
enum StoreTopic: HelpTopic {
  static let name = "stores"
  static let summary = "Where accounts are kept, and how safe they are there."
  static let sections = [
    HelpSection(rows: [
      (
        "keyring",
        "In the desktop's keyring, such as GNOME Keyring, KWallet or KeePassXC. It is open while "
          + "you are logged in, and encrypted on the disk."
      ),
      (
        "encrypted:PATH",
        "In a file that is encrypted with a passphrase or a key; even the accounts' names can be "
          + "read only with it."
      ),
      (
        "encrypted-sqlite:PATH",
        "In an SQLite database, for many accounts; each is encrypted, but their names can be read."
      ),
      ("file:PATH", "In a file that is not encrypted; other users of the machine cannot read it."),
      (
        "sqlite:PATH",
        "In an SQLite database that is not encrypted; other users of the machine cannot read it."
      ),
      (
        "postgresql://USER@HOST/DATABASE",
        "In a PostgreSQL database that many hosts may share; each account is encrypted, but their "
          + "names can be read."
      ),
      ("memory", "Nowhere: the account ends with the program."),
    ])
  ]
  static let details = """
    Without --store, accounts are kept in the desktop's keyring. If there is none, or it is
    locked and there is no display, they are kept in an encrypted file, tokens.sealed in
    the folder sq-demo of your state folder, with its key beside it in tokens.key. The
    program makes this choice once. The account of the sandbox inside the program ends with
    the program, unless you name a store with --store.

    The key of encrypted:PATH and encrypted-sqlite:PATH is made from the passphrase in the
    file that --passphrase-file names, or in the environment variable SQ_STORE_PASSPHRASE.
    Without either, the key is in the file PATH.key. If that file does not exist, the
    program asks for the passphrase on the terminal, twice if the store is new. For a new
    store, if you give no passphrase or there is no terminal, the program creates PATH.key
    with a random key that only you can read.

    A database takes its password from ~/.pgpass or from PGPASSWORD, never from the
    address. Its key is made from a passphrase in the same way, or is in the file
    database.key in the folder sq-demo of your state folder. All hosts need the same
    passphrase, or a copy of that file.

    The program remembers how each account was signed in, apart from its tokens: the
    server, the client and the scope, without a token or a secret. So 'sq-demo login
    --account ID' is enough when a session has ended. This is in the file PATH.clients,
    which is encrypted with the store's key if the store is encrypted. For a store without
    a path it is in the folder sq-demo: in clients.sealed, or in a file database-*.clients
    for each database. 'sq-demo logout' forgets it.

    A key file beside the store protects you only from people who have a copy of the store
    without the key file. It does not protect you from a program that runs as your user.
    """
}
