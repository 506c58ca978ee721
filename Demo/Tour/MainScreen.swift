import SequencingOAuth
import SequencingOAuthGRPC

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The main screen: it shows whose token it is and the user's files, makes a gRPC call with the
/// token, hears what becomes of it, refreshes and revokes it, and signs out.
@MainActor
final class MainScreen: TokenRefreshDelegate {
  private let oauth: SQOAuth
  private let files: Pipeline.Pipe?
  private let server: RPCServer?
  private let whoSignedIn: @Sendable (SQToken) async -> String?
  private let tell: @Sendable (Coordinator.Event) -> Void

  init(
    _ oauth: SQOAuth, files: Pipeline.Pipe?, server: RPCServer?,
    whoSignedIn: @escaping @Sendable (SQToken) async -> String?,
    tell: @escaping @Sendable (Coordinator.Event) -> Void
  ) {
    self.oauth = oauth
    self.files = files
    self.server = server
    self.whoSignedIn = whoSignedIn
    self.tell = tell
    oauth.tokenRefreshDelegate = self
  }

  /// Asks the resource server, with the token, whose it is.
  func askWhoSignedIn(_ token: SQToken) {
    Task { tell(.userIsKnown(await whoSignedIn(token))) }
  }

  /// Reads the files; where nobody is signed in, the pipe has the user sign in first.
  func readFiles() {
    Task {
      do throws(PipeError) {
        guard let page = try await files?.pages(DriveFile.Page.self).first() else { return }
        tell(.filesAreRead(.read(page.value.items, isAll: page.nextURL == nil)))
      } catch {
        let failure = Failure(error)
        tell(.filesAreRead(.failed(code: failure.code, message: failure.message)))
      }
    }
  }

  /// Calls the gRPC server with the user's token.
  func call() {
    Task {
      do throws(Failure) {
        guard let server else { return }
        tell(.callHasEnded(.done(try await server.call(with: .account(oauth.module)))))
      } catch {
        let lines = [error.message, error.challenge].compactMap(\.self)
        tell(.callHasEnded(.failed(message: lines.joined(separator: "\n"))))
      }
    }
  }

  /// Refreshes the token although it may be valid.
  func refresh() {
    Task {
      do throws(SQOAuthError) {
        try await oauth.module.refresh()
      } catch {
        // Within the time in which a failure stands nothing is sent, and no delegate is told.
        if oauth.result.token != nil { tokenRefreshDidFail(error) }
      }
      tell(.refreshHasEnded)
    }
  }

  /// Has the server end the tokens; that the session is over is heard as always.
  func revoke() {
    Task {
      do throws(SQOAuthError) {
        try await oauth.revoke()
      } catch {
        tell(
          .revocationDidFail(code: error.code.rawValue, message: error.message, at: Date()))
      }
    }
  }

  func signOut() {
    oauth.userDidSignOut()
  }

  // MARK: TokenRefreshDelegate

  func tokenIsRefreshed(_ token: SQToken) {
    tell(.tokenIsRefreshed(token, at: Date()))
  }

  func tokenRefreshDidFail(_ error: SQOAuthError) {
    tell(
      .tokenRefreshDidFail(code: error.code.rawValue, message: error.message, at: Date()))
  }

  func sessionDidEnd(_ reason: SessionEnd) {
    switch reason {
    case .signedOut: tell(.sessionDidEnd(nil))
    case .revoked: tell(.sessionDidEnd(.ended(code: "revoked", message: "the tokens were revoked")))
    case .refused(let error):
      tell(.sessionDidEnd(.ended(code: error.code.rawValue, message: error.message)))
    }
  }
}
