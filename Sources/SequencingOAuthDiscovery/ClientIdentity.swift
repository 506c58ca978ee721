public import SQBasics
public import SequencingOAuth

/// The ways in which a program can be a client of an authorization server that it has just found.
///
/// The program uses the first of these that fits a server: a client that was registered there by
/// hand, the address of the client's metadata document, or a registration that the program makes by
/// itself.
public struct ClientIdentity: Sendable {
  /// The clients that were registered by hand, each for its own issuer.
  ///
  /// A configuration whose provider has no issuer is never used, because its secret could reach any
  /// server.
  public var clients: [ClientConfiguration]
  /// The address of the client's metadata document, which is its `client_id`; `nil` for none.
  ///
  /// Make the document with `ClientMetadata.document(clientID:)`, with the same ``metadata``.
  ///
  /// - SeeAlso: OAuth Client ID Metadata Document (draft)
  public var documentAddress: String?
  /// The metadata with which the program registers itself; `nil` if it does not register itself.
  ///
  /// A redirect URI of a loopback address without a port is registered with three ports, since many
  /// servers compare the port. The program later uses the first of them that is free.
  public var metadata: ClientMetadata?
  /// The store of the program's registrations; it holds one for each issuer.
  public var registrations: any RegistrationStore

  /// Creates an identity; the registrations are kept in memory unless a store is given.
  public init(
    registering metadata: ClientMetadata? = nil,
    in registrations: any RegistrationStore = MemoryRegistrationStore(),
    documentAddress: String? = nil, clients: [ClientConfiguration] = []
  ) {
    self.metadata = metadata
    self.registrations = registrations
    self.documentAddress = documentAddress
    self.clients = clients
  }

  /// Returns the client that was registered by hand at an issuer.
  func client(at issuer: String) -> ClientConfiguration? {
    clients.first { $0.provider.issuer == issuer }
  }
}

extension ClientIdentity: Redacted {
  /// The kinds of identity, without a secret.
  public var description: String {
    let parts = [
      clients.isEmpty ? nil : "\(clients.count) registered by hand",
      documentAddress.map { "document \($0.printable)" }, metadata.map { _ in "registers itself" },
    ].compactMap(\.self)
    return "ClientIdentity(\(parts.joined(separator: ", ")))"
  }
}
