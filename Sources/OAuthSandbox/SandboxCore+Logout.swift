#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The logouts that the sandbox reports to clients with a server.
extension SandboxCore {
  /// Posts the logout tokens that wait, and waits for the answers.
  ///
  /// An address that is not on this computer gets nothing, and a client that does not answer is
  /// not asked again.
  func sendLogoutNotices() async {
    for notice in withState({ $0.takeLogoutNotices() }) {
      guard let url = LoopbackURL(notice.uri) else { continue }
      _ = try? await LoopbackClient.send(
        "POST", url, headers: [("Content-Type", "application/x-www-form-urlencoded")],
        body: Data("logout_token=\(FormCoding.encode(notice.token))".utf8))
    }
  }
}
