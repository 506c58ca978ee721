import SQBasics
import SQFoundation

/// Documents about clients: the sandbox reads them before it answers a client's request.
extension SandboxCore {
  /// Reads the document of the client that a request names, unless the client is known.
  ///
  /// The first request of a sign-in reads the document anew, so that a change takes effect.
  func readClientDocument(for request: SandboxRequest) async {
    guard let (id, source) = withState({ Self.document(for: request, $0) }) else { return }
    let outcome = await Result.of { () throws(ClientDocumentFault) in
      try ClientDocument.check(address: id, allowsLoopback: source.asksLoopbackServers)
      let answer = await Self.answer(of: id, source)
      return try withState { sandbox throws(ClientDocumentFault) in
        try ClientDocument.client(id, in: answer, sandbox)
      }
    }
    withState { $0.documents.note(id, outcome) }
  }

  /// Returns the identifier of the client whose document must be read, or `nil` for no client.
  private static func document(
    for request: SandboxRequest, _ sandbox: SandboxState
  ) -> (id: String, SandboxClientDocuments)? {
    guard let source = sandbox.options.clientDocuments,
      let id = request.endpoint == .authorization
        ? request.parameters.value("client_id") : request.form("client_id"),
      ClientDocument.isAddress(id), !sandbox.options.clients.contains(where: { $0.id == id })
    else { return nil }
    switch request.endpoint {
    case .pushedAuthorization, .deviceAuthorization:
      return (id, source)
    case .authorization:
      // For a pushed request, the document was read when the client pushed the parameters.
      return request.parameters.value("request_uri") == nil ? (id, source) : nil
    case .token, .revocation, .introspection:
      return sandbox.documents.client(id) == nil ? (id, source) : nil
    default:
      return nil
    }
  }

  private static func answer(
    of address: String, _ source: SandboxClientDocuments
  ) async -> SandboxClientDocuments.Answer? {
    if let answer = await source.documents(address) { return answer }
    guard source.asksLoopbackServers, let url = LoopbackURL(address),
      let answer = try? await LoopbackClient.send(
        "GET", url, headers: [("Accept", "application/json")], within: .seconds(5))
    else { return nil }
    return SandboxClientDocuments.Answer(
      status: answer.status, contentType: answer.header("content-type"), body: answer.body)
  }
}
