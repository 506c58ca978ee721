import ProgramSupport
import Testing

@testable import TestSupport

/// A DNS lookup that does not end.
@Suite(.timeLimit(.minutes(1)), .requires("the right to mount a file system", SmallDisk.isAllowed))
struct HTTPLookupTests {
  /// The lookup reads a FIFO in place of `/etc/resolv.conf`.
  ///
  /// The probe cancels its request once the lookup has opened the FIFO, and closes its own end of
  /// the FIFO only after the request has failed. So the lookup is still pending at that time.
  @Test func `cancelling a request does not wait for its DNS lookup`() async throws {
    let folder = try TemporaryFolder()
    let fifo = folder.file("resolv.conf")
    let result = try await ChildProcess.run(
      SmallDisk.unshare + [
        "sh", "-c", #"mkfifo "$0" && mount --bind "$0" /etc/resolv.conf && exec "$@""#, fifo,
        TransferProbe.executable, "cancel", "http://no-such-host.invalid/", fifo,
      ])
    #expect(result.status == 1)
    #expect(result.errors.hasPrefix("error cancelled: "), "\(result.errors)")
  }
}
