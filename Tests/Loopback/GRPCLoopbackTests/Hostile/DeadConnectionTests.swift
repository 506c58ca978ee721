import GRPCValueSupport
import SQBasics
import SQHTTP2
import SequencingOAuth
import SequencingOAuthGRPC
import Testing

@testable import GRPCSupport
@testable import SequencingOAuthGRPC

/// A connection that is dead without a sign, for example after the machine has slept.
@Suite struct DeadConnectionTests {
  private static let second: UInt64 = 1_000_000_000

  /// Makes a call on a connection, and lets it reach its time limit after `seconds`.
  ///
  /// `bytes` arrive in the meantime.
  private func run(
    _ state: inout RPCPeer.State, seconds: UInt64, on wire: GivenBytes,
    receiving bytes: [UInt8] = []
  ) {
    let end = Monotonic.now() + seconds * Self.second
    let stream = PeerStateTests.stream(deadline: end)
    state.waiting = [stream]
    state.settle()
    wire.rest = bytes[...]
    state.check(at: end)
    state.settle()
    let error = #expect(throws: RPCCallError.self) { _ = try stream.result?.get() }
    #expect(error?.status == .deadlineExceeded)
  }

  /// Returns a state whose current connection has received `start`, and that connection's bytes.
  private static func state(
    _ start: [UInt8] = Bytes.start
  ) throws -> (RPCPeer.State, GivenBytes) {
    let wire = GivenBytes(start, refusing: nil)
    let connection = try RPCConnection(
      wire, host: "127.0.0.1", authority: "127.0.0.1:1", keepAlive: nil)
    while connection.read() {}
    var state = RPCPeer.State()
    state.current = connection
    return (state, wire)
  }

  @Test func `after a call that ended in silence, the next call gets another connection`() throws {
    var (state, wire) = try Self.state()
    run(&state, seconds: 60, on: wire)
    #expect(state.current == nil && state.draining.isEmpty)
  }

  @Test func `a call that ends after a short silence keeps the connection`() throws {
    var (state, wire) = try Self.state()
    run(&state, seconds: 5, on: wire)
    #expect(state.current != nil)
  }

  @Test func `a server that sends anything keeps the connection after a call's time limit`() throws
  {
    var (state, wire) = try Self.state()
    run(&state, seconds: 60, on: wire, receiving: Bytes.ping)
    #expect(state.current != nil)
  }

  @Test func `a call without a time limit continues on a connection that gets no further calls`()
    throws
  {
    var (state, wire) = try Self.state()
    let long = PeerStateTests.stream()
    state.waiting = [long]
    state.settle()
    run(&state, seconds: 60, on: wire)
    #expect(state.current == nil && state.draining.count == 1 && long.result == nil)
  }

  @Test func `a call that moves from a doubtful connection keeps its time limit`() throws {
    // The server allows one stream.
    var (state, _) = try Self.state(Bytes.settings((3, 1)) + Bytes.settingsAcknowledgement)
    let end = Monotonic.now() + 60 * Self.second
    let (first, second) = (
      PeerStateTests.stream(deadline: end), PeerStateTests.stream(deadline: end + Self.second)
    )
    state.waiting = [first, second]
    state.settle()
    state.check(at: end)
    state.settle()
    #expect(state.waiting.map { $0 === second } == [true])
    #expect(state.nextCheck <= end + Self.second)
  }

  @Test func `short calls that end in silence add up`() {
    var pulse = ConnectionPulse(interval: nil)
    pulse.isProven = true
    let start = Monotonic.now()
    pulse.isBusy(at: start)
    pulse.isIdle(at: start + 6 * Self.second)
    #expect(!pulse.isDoubtful(at: start + 6 * Self.second))
    pulse.isBusy(at: start + 7 * Self.second)
    #expect(pulse.isDoubtful(at: start + 13 * Self.second))
    pulse.hasReceived(at: start + 13 * Self.second)
    #expect(!pulse.isDoubtful(at: start + 60 * Self.second))
  }

  @Test func `silence continues through calls that end without an answer`() throws {
    var pulse = ConnectionPulse(interval: .seconds(100))
    pulse.isProven = true
    let start = Monotonic.now()
    for minute in 0..<2 {
      pulse.isBusy(at: start + UInt64(minute) * 60 * Self.second)
      pulse.isIdle(at: start + UInt64(minute) * 60 * Self.second + 50 * Self.second)
    }
    pulse.isBusy(at: start + 120 * Self.second)
    guard case .ping = pulse.task(at: start + 120 * Self.second) else { throw Unexpected() }
    // The end of the call does not end the wait for the answer to the ping.
    pulse.isIdle(at: start + 121 * Self.second)
    guard case .giveUp = pulse.task(at: start + 140 * Self.second) else { throw Unexpected() }
  }

  private struct Unexpected: Error {}
}
