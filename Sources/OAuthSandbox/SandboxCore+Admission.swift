import SQLoopback

extension SandboxCore {
  /// The largest body, in bytes, that endpoints other than the upload read.
  private static let ordinaryBytes = 1 << 20

  /// Decides, when the head of a request has come, whether its body is read.
  ///
  /// A small body is always read unless the client waits for `100 Continue`, so that a refused
  /// request can be inspected whole. A large body that would be refused anyway is not read (RFC
  /// 9110, section 10.1.1).
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
