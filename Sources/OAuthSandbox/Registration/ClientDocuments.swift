/// The clients whose documents the sandbox has read, by their identifiers.
struct ClientDocuments {
  /// The maximum number of stored outcomes, which are clients or faults.
  private static let most = 1000

  private var outcomes: [String: Result<SandboxClient, ClientDocumentFault>] = [:]

  /// The clients whose newest documents are accepted.
  var clients: [SandboxClient] { outcomes.values.compactMap { try? $0.get() } }

  /// Returns a client as its newest document describes it; `nil` if the document is rejected.
  func client(_ id: String) -> SandboxClient? { try? outcomes[id]?.get() }

  /// Returns why the newest document of a client is rejected.
  func fault(of id: String) -> String? {
    if case .failure(let fault)? = outcomes[id] { fault.reason } else { nil }
  }

  /// Stores the outcome of reading a client's document, in place of an earlier outcome.
  mutating func note(_ id: String, _ outcome: Result<SandboxClient, ClientDocumentFault>) {
    if outcomes.count >= Self.most { outcomes = [:] }
    outcomes[id] = outcome
  }
}
