import Foundation
import SQBasics
import TestSupport

/// The thread of a relay; it waits for the relay's sockets and moves their bytes.
final class RelayLoop: Sendable {
  struct State {
    var traffic = TCPRelay.Traffic.all
    var connections: [RelayConnection] = []
    var counters = TCPRelay.Counters()
    var fault = RelayFault()
    var hasEnded = false
  }

  let state = Locked(State())
  private let listener: BoundSocket
  private let target: UInt16
  private let answerLimit: Int
  /// A pipe that ends the thread's wait after a change.
  private let alarm: ChildPipe

  init(listener: BoundSocket, target: UInt16, answerLimit: Int) throws {
    self.listener = listener
    self.target = target
    self.answerLimit = answerLimit
    alarm = try ChildPipe()
    _ = fcntl(alarm.readEnd, F_SETFL, O_NONBLOCK)
    _ = fcntl(alarm.writeEnd, F_SETFL, O_NONBLOCK)
  }

  deinit {
    close(alarm.readEnd)
    close(alarm.writeEnd)
  }

  func start() {
    Thread.detachNewThread { [self] in
      while !state.withLock(\.hasEnded) {
        wait()
        turn()
      }
      state.withLock { state in
        for connection in state.connections { connection.close() }
        state.connections = []
      }
    }
  }

  /// Changes the state, and wakes the thread.
  func change(_ body: (inout State) -> Void) {
    state.withLock { body(&$0) }
    var byte: UInt8 = 0
    // If the pipe is full, the thread will wake up anyway.
    _ = write(alarm.writeEnd, &byte, 1)
  }

  func end() {
    change { $0.hasEnded = true }
  }

  private func wait() {
    var sockets = [listener.descriptor, alarm.readEnd].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    sockets += state.withLock { state in
      state.connections.flatMap { $0.events(state.traffic) }
    }
    poll(&sockets, nfds_t(sockets.count), -1)
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(alarm.readEnd, &bytes, bytes.count) > 0 {}
  }

  /// Accepts the waiting connections, and moves the bytes of all connections.
  private func turn() {
    state.withLock { state in
      while case let client = accept(listener.descriptor, nil, nil), client >= 0 {
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        state.connections.append(RelayConnection(client: client, answerLimit: answerLimit))
        state.counters.accepted += 1
      }
      var open: [RelayConnection] = []
      for connection in state.connections {
        do {
          if state.traffic != .nothing { try connection.connect(to: target) }
          let count = try connection.move(&state.traffic, &state.fault)
          state.counters.bytesToServer += count.toServer
          state.counters.bytesToClients += count.toClient
          if connection.isFinished { connection.close() } else { open.append(connection) }
        } catch {
          connection.reset()
        }
      }
      state.connections = open
    }
  }
}
