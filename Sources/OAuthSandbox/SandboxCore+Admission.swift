import LoopbackHTTP

extension SandboxCore {
  /// The largest body that any endpoint but the upload reads.
  private static let ordinaryBytes = 1 << 20

  /// Decides whether a body is read, when its head has come.
  ///
  /// A small body that nobody holds back is always read, so that a refused request is remembered
  /// whole; a large one that would be refused anyway is not (RFC 9110, section 10.1.1).
  func admission(of head: LoopbackRequest) -> LoopbackAdmission {
    let request = SandboxRequest(head, date: withState { $0.now })
    guard let endpoint = request.endpoint else { return .ordinary }
    return withState { sandbox in
      if sandbox.plan.leavesNextUnread(endpoint) { return .unread }
      guard endpoint == .driveUpload else { return .ordinary }
      do throws(APIFault) {
        let (access, old) = try DriveUpload.check(request, &sandbox)
        let room = sandbox.room(of: access.owner, replacing: old)
        return .read(
          atMost: max(room, Self.ordinaryBytes) + DriveUpload.envelopeBytes,
          within: .seconds(600))
      } catch {
        return Self.isHeldBackOrLarge(request) ? .unread : .ordinary
      }
    }
  }

  private static func isHeldBackOrLarge(_ request: SandboxRequest) -> Bool {
    guard let length = request.header("content-length").flatMap({ Int($0) }) else { return true }
    return length > ordinaryBytes || request.fieldList("expect") != nil
  }
}
