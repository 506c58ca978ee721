/// `help stores`: where accounts are kept.
enum StoreTopic: HelpTopic {
  static let name = "stores"
  static let summary = "Where accounts are kept, and what that protects them from."
  static let sections = [
    HelpSection(rows: [
      (
        "keyring",
        "In the desktop's keyring: GNOME Keyring, KWallet, KeePassXC or another one. It is open "
          + "while you are at work, and sealed on the disk."
      ),
      (
        "encrypted:PATH",
        "In a file that is sealed under a passphrase or a key; not even the accounts' names can "
          + "be read without it."
      ),
      (
        "encrypted-sqlite:PATH",
        "In an SQLite database, for many accounts; each is sealed, their names can be read."
      ),
      ("file:PATH", "In a file in clear, which other users of the machine cannot read."),
      ("sqlite:PATH", "In an SQLite database in clear, which others cannot read either."),
      ("memory", "Nowhere: the account ends with the program."),
    ])
  ]
  static let details = """
    Without --store it is the keyring where there is one. Else it is an encrypted file,
    tokens.sealed in sq-demo in your state folder, with its key beside it in tokens.key.
    What was chosen stays. The account of the sandbox inside the program lasts as long as
    the program, and is kept only where --store says so.

    The key of encrypted:PATH and encrypted-sqlite:PATH is made from the passphrase in the
    file that --passphrase-file names, or in the environment variable SQ_STORE_PASSPHRASE.
    Without either it is the one in the file PATH.key, if that is there. Else a terminal
    asks for the passphrase, twice where the store is new; to give none there makes
    PATH.key, with a random key that only you can read. Without a terminal a new store gets
    a PATH.key too.

    How each account was signed in is kept apart from its tokens, so that 'sq-demo login
    --account ID' is enough when a session has ended: the server, the client and what was
    asked for, without a token or a secret. It is in PATH.clients, sealed with the same key
    where the store is, or in clients.sealed in the state folder. 'sq-demo logout' forgets
    it.

    A key beside its store keeps out whoever has a copy of the store alone, and nobody
    else: not a program that runs as you.
    """
}
