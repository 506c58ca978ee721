import SQLoopback

extension SandboxCore {
  /// The size limit, in bytes, of a body at all endpoints but the upload.
  private static let ordinaryBytes = 1 << 20

  /// Decides whether to read a request's body, as soon as the head has arrived.
  ///
  /// Only uploads are checked this early. The body of a rejected upload stays unread if it is large
  /// or of unknown length, or if the client waits for `100 Continue` (RFC 9110, section 10.1.1).
  /// Any other body within the server's limits is read even if the request will be rejected, so
  /// that tests can inspect the whole request. A misbehaviour can leave any body unread.
  func admission(of head: LoopbackRequest) -> LoopbackAdmission {
    let request = SandboxRequest(head, date: withState { $0.now })
    guard let endpoint = request.endpoint else { return .ordinary }
    return withState { state in
      // Check a copy of the state: the request is checked again when its body has arrived.
      var sandbox = state
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
