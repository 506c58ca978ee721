import SQFoundation

/// Back-channel logout: the sandbox tells the servers of its clients that a session has ended.
extension SandboxCore {
  /// Posts the queued logout tokens one after the other, and waits for the answers.
  ///
  /// An address outside this computer is skipped. A failed request is not repeated. A client gets
  /// five seconds to answer, because the user's logout page waits for it.
  func sendLogoutNotices() async {
    for notice in withState({ $0.takeLogoutNotices() }) {
      guard let url = LoopbackURL(notice.uri) else { continue }
      _ = try? await LoopbackClient.send(
        "POST", url, headers: [("Content-Type", "application/x-www-form-urlencoded")],
        body: Data("logout_token=\(FormCoding.encode(notice.token))".utf8), within: .seconds(5))
    }
  }
}
