public import SQFoundation

/// The source of client metadata documents, whose addresses are the clients' identifiers.
///
/// With these settings, a client needs no registration: the sandbox reads its document at each
/// sign-in. If the document is wrong, the client is unknown, and the page of the sign-in says why.
///
/// ```swift
/// options.clientDocuments = SandboxClientDocuments { address in
///   address == "https://app.example.com/client.json" ? .init(json: document) : nil
/// }
/// ```
///
/// - SeeAlso: OAuth Client ID Metadata Document (draft)
public struct SandboxClientDocuments: Sendable {
  /// The answer of a server to the request for a document.
  public struct Answer: Sendable, Hashable {
    /// The HTTP status.
    public var status: Int
    /// The value of `Content-Type`; `nil` if the answer has none.
    public var contentType: String?
    /// The content.
    public var body: Data

    /// Creates an answer.
    public init(status: Int = 200, contentType: String?, body: Data) {
      self.status = status
      self.contentType = contentType
      self.body = body
    }

    /// Creates the answer of a server that has this document.
    public init(json: SandboxJSON) {
      self.init(contentType: "application/json", body: Data(json.text.utf8))
    }
  }

  /// The closure that returns a server's answer for an address, or `nil` if it knows no document
  /// there.
  public var documents: @Sendable (_ address: String) async -> Answer?
  /// Whether the sandbox also accepts identifiers with `http` and a loopback host, and requests
  /// their documents.
  ///
  /// The draft demands `https`, so use it only to try an app on this computer. The sandbox sends no
  /// requests to other computers.
  public var asksLoopbackServers: Bool

  /// Creates settings with a closure's documents, with loopback servers' documents, or with both.
  public init(
    asksLoopbackServers: Bool = false,
    _ documents: @escaping @Sendable (_ address: String) async -> Answer? = { _ in nil }
  ) {
    self.asksLoopbackServers = asksLoopbackServers
    self.documents = documents
  }
}
