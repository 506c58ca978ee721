import SequencingOAuth

/// One of the articles' ways to distinguish errors, as a function.
///
/// Compiling this file is half of the test: Swift 6.3 crashes with an internal error on such
/// functions if the last clause has a condition.
struct ErrorClauses: Sendable, CustomStringConvertible {
  let description: String
  /// Returns "no" for `access_denied` and `cancelled`, and the code of any other error.
  let outcome: @Sendable (SQOAuthError.Code) async -> String

  static let all: [ErrorClauses] = [
    Self(description: "a switch over the code", outcome: byCode),
    Self(description: "a question in a condition", outcome: byQuestion),
    Self(description: "a question in a guard") { code in
      do throws(SQOAuthError) {
        return try await byGuard(code)
      } catch {
        return "\(error.response?.error ?? error.code)"
      }
    },
    Self(description: "a pattern", outcome: byPattern),
    Self(description: "a clause with a condition", outcome: byCondition),
    Self(description: "a pattern among errors of any type", outcome: amongOthers),
    Self(description: "a pattern in a switch over any error", outcome: bySwitchOverAny),
  ]

  private static func byCode(_ code: SQOAuthError.Code) async -> String {
    for attempt in 0..<3 {
      do {
        return try await fail(code, attempt)
      } catch {
        switch error.code {
        case .accessDenied, .cancelled: return "no"
        case .serverError where error.status == nil || error.cause == nil: continue
        default: return "\(error.response?.error ?? error.code)"
        }
      }
    }
    return "\(SQOAuthError.Code.serverError)"
  }

  private static func byQuestion(_ code: SQOAuthError.Code) async -> String {
    do {
      return try await fail(code)
    } catch {
      if error.is(.accessDenied) || error.is(.cancelled, .timedOut) { return "no" }
      let cause = error.cause ?? error
      let told = { "\((cause as? SQOAuthError)?.code ?? error.code)" }
      return told()
    }
  }

  private static func byGuard(_ code: SQOAuthError.Code) async throws(SQOAuthError) -> String {
    do {
      return try await fail(code)
    } catch {
      guard error.is(.accessDenied, .cancelled) else { throw error }
      return "no"
    }
  }

  private static func byPattern(_ code: SQOAuthError.Code) async -> String {
    for attempt in 0..<3 {
      do {
        return try await fail(code, attempt)
      } catch SQOAuthError.Code.accessDenied, SQOAuthError.Code.cancelled {
        if attempt < 2 { continue }
        return code == .accessDenied || code == .cancelled ? "no" : "wrong"
      } catch {
        return "\(error.response?.error ?? error.code)"
      }
    }
    return "unseen"
  }

  private static func byCondition(_ code: SQOAuthError.Code) async -> String {
    for attempt in 0..<3 {
      do {
        return try await fail(code, attempt)
      } catch  where error.code == .accessDenied || error.code == .cancelled && attempt >= 0 {
        if attempt < 2 { continue }
        let told = { error.response?.errorDescription ?? "no" }
        return told()
      } catch {
        return "\(error.response?.error ?? error.code)"
      }
    }
    return "unseen"
  }

  private static func amongOthers(_ code: SQOAuthError.Code) async -> String {
    do {
      try Task.checkCancellation()
      return try await fail(code)
    } catch SQOAuthError.Code.accessDenied, SQOAuthError.Code.cancelled {
      return "no"
    } catch {
      return "\((error as? SQOAuthError)?.code ?? .timedOut)"
    }
  }

  private static func bySwitchOverAny(_ code: SQOAuthError.Code) async -> String {
    let failure: any Error = SQOAuthError(code, "as asked")
    switch failure {
    case SQOAuthError.Code.accessDenied, SQOAuthError.Code.cancelled: return "no"
    default: return "\((failure as? SQOAuthError)?.code ?? .timedOut)"
    }
  }

  private static func fail(
    _ code: SQOAuthError.Code, _ attempt: Int = 0
  ) async throws(SQOAuthError) -> String {
    throw SQOAuthError(code, "as asked, attempt \(attempt)")
  }
}
