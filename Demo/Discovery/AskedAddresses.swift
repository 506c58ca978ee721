import SQBasics
import SQFoundation
import SequencingOAuth
import SequencingOAuthDiscovery

/// A transport that sends only GET requests, and records each request with its result.
final class AskedAddresses: HTTPTransport {
  /// A request and its result.
  struct Step: Sendable, Encodable {
    let address: String
    /// The status of the answer; `nil` if there was none.
    let status: Int?
    /// What the answer is, or why there is none, in words.
    let result: String
  }

  private let transport: any HTTPTransport
  private let recorded = Locked<[Step]>([])

  /// Creates a transport that sends its requests through another transport.
  init(through transport: any HTTPTransport) { self.transport = transport }

  /// The requests so far, in order.
  var steps: [Step] { recorded.withLock(\.self) }

  func send(_ request: WebRequest) async throws -> WebResponse {
    let address = request.url.absoluteString
    guard request.method == "GET" else {
      throw SQOAuthError(.invalidRequest, "a search sends only GET requests")
    }
    do {
      let response = try await transport.send(request)
      record(Step(address: address, status: response.status, result: Self.words(response)))
      return response
    } catch {
      let reason = (error as? SQOAuthError)?.message ?? "no answer"
      record(Step(address: address, status: nil, result: reason))
      throw error
    }
  }

  private func record(_ step: Step) { recorded.withLock { $0.append(step) } }

  /// Describes an answer in words.
  private static func words(_ response: WebResponse) -> String {
    let challenges = response.headers.tokenChallenges
    if !challenges.isEmpty {
      return challenges.resourceMetadata.map { "a challenge that names \($0)" }
        ?? "a challenge without resource_metadata"
    }
    guard response.status == 200 else { return "no document" }
    guard !JSONMessage.isJSON(response) else { return "a document" }
    return MediaType.essence(of: response.headers["Content-Type"]) ?? "no content type"
  }
}
