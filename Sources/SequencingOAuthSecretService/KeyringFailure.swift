import CSQSecret
import SQBasics
import SequencingOAuth

/// The reason why a call to the keyring failed.
///
/// It contains no text from the keyring, because that text might contain a secret. An exception is
/// D-Bus's name of an error that occurs before any secret is sent.
enum KeyringFailure: Error, Hashable {
  /// There is no session bus; contains GLib's reason.
  case noBus(String)
  /// The library libsecret cannot be loaded; contains the system's reason.
  case noLibrary(String)
  /// The library libsecret has no function with this name.
  case noFunction(String)
  /// The system gives the process too few files or threads; contains which, and the reason.
  case noRoom(String)
  /// No program on the bus offers the Secret Service.
  case noService
  /// The keyring and libsecret found no common encryption; contains D-Bus's name of the error.
  case noSession(String)
  /// The keyring does not answer or ended during the call.
  case noAnswer
  /// The call's time limit, in seconds, has passed, perhaps while a prompt waited for the user.
  case tooLong(Int)
  /// The session bus accepted no connection within this number of seconds.
  case silentBus(Int)
  /// The app cancelled the call.
  case cancelled
  /// The keyring is still locked: the user was not asked, or refused to unlock it.
  case locked
  /// KeePassXC has no database open, so nothing is known of the items.
  case noDatabase
  /// The keyring has no default collection: the user was not asked to create it, or refused.
  case noCollection
  /// An item that existed a moment ago no longer exists.
  case vanished
  /// The two sides of the session seem to have different keys; an item added there was removed.
  case garbled
  /// An item of the service does not contain a valid account.
  case damaged(service: String)
  /// The key in an item cannot be read because of OpenSSL's configuration; contains the details.
  case keyUnread(String)
  /// An item of the service has a format that this version does not know; `nil` if only the content
  /// shows it.
  case tooNew(service: String, format: Int?)
  /// Any other error, with the domain and the code of its `GError`.
  case other(String, Int32)

  /// Whether the failure means that one item cannot be read.
  var concernsOneItem: Bool {
    switch self {
    case .damaged, .tooNew: true
    default: false
    }
  }

  /// Converts a GLib error, and frees it.
  init(adopting error: UnsafeMutablePointer<GError>?, limit: KeyringLimit) {
    guard let error else {
      self = .noAnswer
      return
    }
    let library = limit.library
    defer { library.c.g_error_free(error) }
    if let failure = limit.failure {
      self = failure
      return
    }
    let code = error.pointee.code
    switch error.pointee.domain {
    case library.c.secret_error_get_quark(): self = Self(secret: code)
    case library.c.g_io_error_quark(): self = Self(io: code)
    case library.c.g_dbus_error_quark(): self = Self(bus: code)
    default: self = .other("", code)
    }
    if case .other = self {
      let domain = library.c.g_quark_to_string(error.pointee.domain)
      self = .other(domain.map { String(cString: $0) } ?? "", code)
    }
  }

  /// Converts the GLib error of a failed attempt to open a session, and frees it.
  init(opening error: UnsafeMutablePointer<GError>?, limit: KeyringLimit) {
    let library = limit.library
    // No secret was sent yet, so it is safe to show D-Bus's name of the error.
    let name = error.flatMap { library.c.g_dbus_error_get_remote_error($0) }
    defer { library.c.g_free(name) }
    switch Self(adopting: error, limit: limit) {
    // No item was requested yet, so the missing object is the service.
    case .vanished: self = .noService
    case .other(let domain, let code):
      self = .noSession(name.map { String(cString: $0) } ?? "\(domain) \(code)")
    case let failure: self = failure
    }
  }

  private init(secret code: Int32) {
    switch UInt32(bitPattern: code) {
    case SECRET_ERROR_IS_LOCKED.rawValue: self = .locked
    case SECRET_ERROR_NO_SUCH_OBJECT.rawValue: self = .vanished
    default: self = .other("", code)
    }
  }

  private init(io code: Int32) {
    switch UInt32(bitPattern: code) {
    // The end of the time limit was handled before, so this code means that the user has cancelled.
    case G_IO_ERROR_CANCELLED.rawValue: self = .locked
    case G_IO_ERROR_CLOSED.rawValue, G_IO_ERROR_TIMED_OUT.rawValue,
      G_IO_ERROR_CONNECTION_CLOSED.rawValue:
      self = .noAnswer
    default: self = .other("", code)
    }
  }

  private init(bus code: Int32) {
    switch UInt32(bitPattern: code) {
    case G_DBUS_ERROR_SERVICE_UNKNOWN.rawValue, G_DBUS_ERROR_NAME_HAS_NO_OWNER.rawValue,
      G_DBUS_ERROR_SPAWN_CHILD_EXITED.rawValue, G_DBUS_ERROR_SPAWN_FAILED.rawValue,
      G_DBUS_ERROR_SPAWN_EXEC_FAILED.rawValue, G_DBUS_ERROR_SPAWN_SERVICE_NOT_FOUND.rawValue,
      G_DBUS_ERROR_ACCESS_DENIED.rawValue:
      self = .noService
    case G_DBUS_ERROR_NO_REPLY.rawValue, G_DBUS_ERROR_DISCONNECTED.rawValue,
      G_DBUS_ERROR_TIMEOUT.rawValue, G_DBUS_ERROR_TIMED_OUT.rawValue:
      self = .noAnswer
    case G_DBUS_ERROR_UNKNOWN_METHOD.rawValue, G_DBUS_ERROR_UNKNOWN_OBJECT.rawValue:
      self = .vanished
    default: self = .other("", code)
    }
  }
}

extension KeyringFailure {
  /// Whether the call may succeed in a new session.
  ///
  /// If the user closes KeePassXC's question, KeePassXC refuses for as long as the connection
  /// lasts.
  var mayEndWithSession: Bool {
    switch self {
    case .noBus, .noService, .noSession, .noAnswer, .vanished, .garbled, .locked, .other: true
    case .noLibrary, .noFunction, .noRoom, .tooLong, .silentBus, .cancelled, .noDatabase,
      .noCollection, .damaged, .keyUnread, .tooNew:
      false
    }
  }

  /// The error that the store throws for this failure.
  var error: SQOAuthError {
    SQOAuthError(code, "the desktop's keyring \(reason)", cause: self)
  }

  private var code: SQOAuthError.Code {
    switch self {
    case .damaged: .storeDamaged
    case .tooNew: .storeTooNew
    case .cancelled: .cancelled
    default: .storeFailed
    }
  }

  private var reason: String {
    switch self {
    case .noBus(let reason):
      """
      cannot be used: there is no D-Bus session (\(reason.printable)); run the program \
      in a desktop session or under dbus-run-session, or choose another store
      """
    case .noLibrary(let reason):
      """
      cannot be used: the library libsecret cannot be loaded (\(reason.printable)); install it, on \
      Debian with the package libsecret-1-0, or choose another store
      """
    case .noFunction(let name):
      """
      cannot be used: the library libsecret has no \(name.printable); install a newer version, on \
      Debian with the package libsecret-1-0, or choose another store
      """
    case .noRoom(let lack):
      """
      was not called, because the system gives this program too few \(lack); raise the limit \
      (`ulimit -a`, or TasksMax of a service), or look for files that the program does not close
      """
    case .noService:
      """
      cannot be used: no program on the D-Bus session offers it to this program; start \
      gnome-keyring, KWallet or KeePassXC, or choose another store
      """
    case .noSession(let name):
      """
      opened no session for this program (\(name.printable)), perhaps because the two have no \
      encryption in common; on Debian, KWallet needs the package libqca-qt6-plugins, or \
      libqca-qt5-2-plugins on Debian 12
      """
    case .noAnswer: "does not answer, or it has ended; try again when it runs"
    case .tooLong(let seconds):
      """
      did not answer within \(seconds) s; make sure that it runs, and answer its question if it \
      asks you to unlock it
      """
    case .silentBus(let seconds):
      """
      cannot be used: the D-Bus session did not answer within \(seconds) s; run the program in a \
      desktop session or under dbus-run-session, or choose another store
      """
    case .cancelled: "did not answer before the call was cancelled"
    case .locked: "is locked and was not unlocked; unlock it and try again, or choose another store"
    case .noDatabase:
      """
      has no database that programs can use; open the database in KeePassXC and try again, or choose \
      another store
      """
    case .noCollection:
      "has no default collection, and none was created; create one in its program and try again"
    case .vanished: "no longer has an item that it had a moment ago; try again"
    case .garbled:
      """
      cannot read a new item that it has just saved, and the item was removed; try again, and \
      update KWallet if its version is older than 6.25
      """
    case .damaged(let service):
      """
      has an item for \(service.printable) whose content is not the record of an account; \
      the item was not changed; erase the account, or remove the item with the desktop's \
      keyring program
      """
    case .keyUnread(let reason): "was read, but \(reason)"
    case .tooNew(let service, let format):
      """
      has an item for \(service.printable)\(format.map { " in format \($0)" } ?? "") that is newer \
      than this program; use a newer version of the program
      """
    case .other(let domain, let code): "refused the call (\(domain) \(code))"
    }
  }
}
