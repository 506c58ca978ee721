import SequencingOAuth
import SequencingOAuthGRPC

/// A `do` statement around a gRPC call, with catch clauses from the articles.
struct StatusClauses: Sendable, CustomStringConvertible {
  let description: String
  /// Returns "sign in" for `UNAUTHENTICATED` and `PERMISSION_DENIED`, and the name of any other
  /// status.
  let outcome: @Sendable (RPCStatus) async -> String

  static let all: [StatusClauses] = [
    Self(description: "a question in a condition", outcome: byQuestion),
    Self(description: "a pattern", outcome: byPattern),
    Self(description: "a pattern among errors of any type", outcome: amongOthers),
  ]

  private static func byQuestion(_ status: RPCStatus) async -> String {
    do {
      return try await fail(status)
    } catch {
      if error.is(.unauthenticated, .permissionDenied) {
        return error.oauth2ChallengeHeader ?? "sign in"
      }
      return "\(error.status)"
    }
  }

  private static func byPattern(_ status: RPCStatus) async -> String {
    do {
      return try await fail(status)
    } catch RPCStatus.unauthenticated, RPCStatus.permissionDenied {
      return status == .unauthenticated || status == .permissionDenied ? "sign in" : "wrong"
    } catch {
      return error.oauthError.map { "\($0.code)" } ?? "\(error.status)"
    }
  }

  private static func amongOthers(_ status: RPCStatus) async -> String {
    do {
      try Task.checkCancellation()
      return try await fail(status)
    } catch RPCStatus.unauthenticated, RPCStatus.permissionDenied {
      return "sign in"
    } catch {
      return "\((error as? RPCCallError)?.status ?? .ok)"
    }
  }

  private static func fail(_ status: RPCStatus) async throws(RPCCallError) -> String {
    throw RPCCallError(status, "as asked")
  }
}
