import SQBasics
import SQFiles
import SQFoundation

/// A store of registrations in one file, readable only by its owner.
///
/// Put it in the same folder as the token file, and give it the same key. The file has mode 0600,
/// in a folder that is created with mode 0700. Each change replaces the whole file; it is safely on
/// disk when the call returns. Several processes may use the file at the same time; a call waits at
/// most 30 s for another process. With a key, the content is encrypted. A file that is damaged or
/// encrypted with a different key is rejected and not changed. Without a key, a changed letter in a
/// secret is not noticed, because the file has no digest.
public final class FileRegistrationStore: RegistrationStore {
  /// The absolute path of the file.
  public let path: String
  private let key: StoreKey?
  private let file: PrivateFile
  private let locks: AccountLocks
  private let queue = BlockingQueue("FileRegistrationStore")

  private static let purpose = "registrations"

  /// Creates a store in a file of the app's choice; the first save creates the file.
  ///
  /// If `key` is `nil`, the registrations and their secrets are not encrypted. A file that was
  /// created without a key is rejected with ``SQOAuthError/Code/storeDamaged`` if there is one, and
  /// the reverse. A relative path begins at the process's working directory at this moment.
  public init(path: String, key: StoreKey?) {
    let path = AbsolutePath.of(path)
    self.path = path
    self.key = key
    file = PrivateFile(path: path)
    locks = AccountLocks(folder: path + ".locks")
  }

  /// Creates a store in the user's state folder, in a subfolder named after the app's service.
  ///
  /// The file is `$XDG_STATE_HOME/SERVICE/clients`, or `~/.local/state/SERVICE/clients`.
  /// If `key` is `nil`, the registrations and their secrets are not encrypted;
  /// ``StoreKey/file(service:)`` is the key of the service's ``EncryptedFileTokenStore``.
  public convenience init(service: String, key: StoreKey?) throws(SQOAuthError) {
    self.init(path: try StateFolder.path(service: service) + "/clients", key: key)
  }

  /// Returns the registration at a server; `nil` if there is none.
  public func registration(
    at issuer: String
  ) async throws(SQOAuthError) -> ClientRegistration? {
    try await queue.run { [self] () throws(SQOAuthError) in
      try read()?.content[issuer].map(decode)
    }
  }

  /// Stores a registration in place of the previous registration at the same server.
  public func save(_ registration: ClientRegistration) async throws(SQOAuthError) {
    let stored = try Self.stored(registration)
    try await rewrite { $0[registration.issuer] = stored }
  }

  /// Stores a registration unless another program has stored one; returns the stored registration.
  ///
  /// `earlier` is the registration that the caller has loaded, or `nil` if there was none.
  /// Processes that use the file run this method one after the other.
  public func save(
    _ registration: ClientRegistration, replacing earlier: ClientRegistration?
  ) async throws(SQOAuthError) -> ClientRegistration {
    let stored = try Self.stored(registration)
    return try await rewrite { [self] content throws(SQOAuthError) in
      if let kept = try content[registration.issuer].map(decode), kept != earlier { return kept }
      content[registration.issuer] = stored
      return registration
    }
  }

  /// Checks that a registration could be saved now, by replacing the file with itself.
  public func checkSaving(at issuer: String) async throws(SQOAuthError) {
    try await queue.run { [self] () throws(SQOAuthError) in
      let lock = try reported { () throws(FileFailure) in try file.lock() }
      defer { lock.release() }
      // A damaged file, or one with another key, must stay as it is. Without a file, only the key
      // can be checked.
      if try read() == nil { try key?.check() }
      try reported { () throws(FileFailure) in try file.checkReplacing() }
    }
  }

  /// Erases the registration at a server; does nothing if there is none.
  public func eraseRegistration(at issuer: String) async throws(SQOAuthError) {
    try await rewrite { $0[issuer] = nil }
  }

  /// Acquires the right to register at a server; returns `nil` while another process has it.
  public func registrationLease(at issuer: String) async throws(SQOAuthError) -> AccountLease? {
    try await queue.run { [locks] () throws(SQOAuthError) in try locks.lease(issuer) }
  }

  // MARK: The file

  private func rewrite<Value: Sendable>(
    _ change: @escaping @Sendable (inout StoredRegistrations) throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    try await queue.run { [self] () throws(SQOAuthError) in
      let lock = try reported { () throws(FileFailure) in try file.lock() }
      defer { lock.release() }
      let old = try read()
      var content = old?.content ?? StoredRegistrations()
      let value = try change(&content)
      guard content != old?.content ?? StoredRegistrations() else { return value }
      let bytes = try sealed(content, old?.sealer)
      try reported { () throws(FileFailure) in try file.replace(with: bytes) }
      return value
    }
  }

  private func read() throws(SQOAuthError) -> (
    content: StoredRegistrations, sealer: RecordSealer?
  )? {
    let bytes = try reported { () throws(FileFailure) in
      try file.read { bytes in
        key == nil ? (try? decode(bytes)) != nil : SealHeader.begins(bytes)
      }
    }
    guard let bytes else { return nil }
    guard let key else { return (try decode(bytes), nil) }
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { throw damaged }
    let sealer: RecordSealer
    do throws(SQOAuthError) {
      sealer = try RecordSealer(key, header: Data(bytes[..<end]))
    } catch {
      throw error.naming("the file of registrations \(path.printable) cannot be read")
    }
    let json: Data
    do throws(SQOAuthError) {
      json = try sealer.open(
        Data(bytes[end...].dropFirst()), as: Self.purpose, with: Data())
    } catch {
      throw error.code == .storeDamaged ? damaged : error
    }
    return (try decode(json), sealer)
  }

  private func sealed(
    _ content: StoredRegistrations, _ sealer: RecordSealer?
  ) throws(SQOAuthError) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    guard let json = try? encoder.encode(content) else {
      throw SQOAuthError(.storeFailed, "the registrations cannot be written as JSON")
    }
    guard let key else { return json }
    let sealer = if let sealer { sealer } else { try RecordSealer.make(key) }
    return sealer.header + Data("\n".utf8)
      + (try sealer.seal(json, as: Self.purpose, with: Data()))
  }

  private func decode(_ json: Data) throws(SQOAuthError) -> StoredRegistrations {
    guard let content = try? JSONDecoder().decode(StoredRegistrations.self, from: json) else {
      // The content of a sealed file is undamaged.
      throw key == nil ? damaged : tooNew
    }
    return content
  }

  /// Returns a registration as the file has it.
  private static func stored(_ registration: ClientRegistration) throws(SQOAuthError) -> JSONValue {
    guard let json = try? JSONDecoder().decode(JSONValue.self, from: try registration.json()) else {
      throw SQOAuthError(.storeFailed, "the registration cannot be written as JSON")
    }
    return json
  }

  /// Decodes one registration; one of a later version of the SDK does not hinder the others.
  ///
  /// A file in clear has no digest. There too, JSON that names its server is of a later version.
  private func decode(_ stored: JSONValue) throws(SQOAuthError) -> ClientRegistration {
    guard let json = try? JSONEncoder().encode(stored),
      let registration = ClientRegistration(json: json)
    else { throw tooNew }
    return registration
  }

  private func reported<Value>(
    _ calls: () throws(FileFailure) -> Value
  ) throws(SQOAuthError) -> Value {
    try FileFailure.reported("the file of registrations \(path.printable) cannot be used", calls)
  }

  private var tooNew: SQOAuthError {
    .tooNew("a registration in the file of registrations \(path.printable)")
  }

  private var damaged: SQOAuthError {
    SQOAuthError(
      .storeDamaged,
      "the file of registrations \(path.printable) is damaged, or is encrypted in another "
        + "way; nothing was changed: restore a copy, or open it with its key, or without a key if it "
        + "is in clear")
  }
}
