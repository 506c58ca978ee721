import Foundation
import SequencingOAuth

// The samples of the article "Handling errors" in runnable form. A test compares the two.

func tokenToShow(of module: AuthorizationModule) async throws -> SQToken? {
  do {
    return try await module.token()
  } catch {
    switch error.code {
    case .notAuthorized, .invalidGrant: return nil
    default: throw error
    }
  }
}

func tokenOrReason(of module: AuthorizationModule) async -> String {
  do {
    return try await module.token().tokenType
  } catch {
    if error.is(.connectionFailed, .requestTimedOut) || error.retryAfter != nil {
      return "Try again later."
    }
    return error.requiresSignIn ? "Sign in again." : "\(error)"
  }
}

func isSignedIn(_ module: AuthorizationModule) async throws -> Bool {
  do {
    _ = try await module.token()
    return true
  } catch SQOAuthError.Code.notAuthorized, SQOAuthError.Code.invalidGrant {
    return false
  } catch {
    throw error
  }
}

func saveTokenType(of module: AuthorizationModule, to file: URL) async throws {
  do {
    let token = try await module.token()
    try Data(token.tokenType.utf8).write(to: file)
  } catch SQOAuthError.Code.notAuthorized {
    print("No user is signed in.")
  } catch {
    throw error
  }
}

func showToken(of module: AuthorizationModule, on show: @escaping @Sendable (String) -> Void) {
  Task {
    do throws(SQOAuthError) {
      show(try await module.token().tokenType)
    } catch {
      show("\(error.code)")
    }
  }
}
