import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// The guarantees of every shared store for several processes.
@Suite(.timeLimit(.minutes(3))) struct SharedProcessTests {
  @Test(arguments: StoreKind.shared)
  func `a record survives the process that saved it`(kind: StoreKind) async throws {
    let folder = try TemporaryFolder()
    let saved = try await StoreProbe.run(
      kind, in: folder, ["save"], input: StoreProbe.input([record("a"), record("b")]))
    #expect(saved.status == 0 && saved.output == "saved\nsaved\n", "\(saved.errors)")
    #expect(try await kind.open(folder).load("a") == record("a"))
    let loaded = try await StoreProbe.run(kind, in: folder, ["load", "b"])
    #expect(try loaded.record() == record("b"))
  }

  @Test(arguments: StoreKind.shared)
  func `a store finds another process's changes`(kind: StoreKind) async throws {
    let folder = try TemporaryFolder()
    let store = try kind.open(folder)
    try await store.save(record("a"))
    #expect(try await store.load("a") == record("a"))
    let other = record("a", token: SQToken(accessToken: "another's"))
    _ = try await StoreProbe.run(
      kind, in: folder, ["save"], input: StoreProbe.input([other, record("b")]))
    #expect(try await store.load("a") == other)
    #expect(try await store.list() == ["a", "b"])
    _ = try await StoreProbe.run(kind, in: folder, ["erase", "a"])
    #expect(try await store.load("a") == nil)
  }

  @Test(arguments: StoreKind.shared)
  func `simultaneous saves from several processes are all kept`(kind: StoreKind) async throws {
    let folder = try TemporaryFolder()
    let names = ["first", "second", "third"]
    let probes = try names.map { name in
      try StoreProbe.start(
        kind, in: folder, ["save"],
        input: StoreProbe.input((0..<25).map { record("\(name)-\($0)") }))
    }
    for probe in probes {
      let result = try await probe.result()
      #expect(result.status == 0, "\(result.errors)")
    }
    let store = try kind.open(folder)
    #expect(try await store.list().count == 75)
    #expect(try await store.load("first-24") == record("first-24"))
  }

  @Test(arguments: StoreKind.shared)
  func `with a lease no change of another process is lost`(kind: StoreKind) async throws {
    let folder = try TemporaryFolder()
    let probes = try (0..<3).map { _ in
      try StoreProbe.start(kind, in: folder, ["count", "a", "10"])
    }
    for probe in probes {
      let result = try await probe.result()
      #expect(result.output == "counted\n", "\(result.errors)")
    }
    #expect(try await kind.open(folder).load("a")?.token.accessToken == "30")
  }

  @Test(arguments: StoreKind.shared)
  func `a lease excludes other stores and processes until it is released`(
    kind: StoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    let (first, second) = (try kind.open(folder), try kind.open(folder))
    let lease = try #require(try await first.shared.lease("a"))
    #expect(try await second.shared.lease("a") == nil)
    #expect(try await StoreProbe.run(kind, in: folder, ["lease", "a"]).output == "busy\n")
    let other = try #require(try await second.shared.lease("b"), "another account is free")
    other.release()
    lease.release()
    try #require(try await second.shared.lease("a")).release()
  }

  @Test(arguments: StoreKind.shared)
  func `a killed process holds no lease`(kind: StoreKind) async throws {
    let folder = try TemporaryFolder()
    let store = try kind.open(folder)
    let holder = try StoreProbe.start(kind, in: folder, ["lease", "a"], input: .open)
    _ = try await holder.line(after: "leased")
    #expect(try await store.shared.lease("a") == nil)
    holder.signal(SIGKILL)
    _ = try await holder.result()
    try #require(try await store.shared.lease("a")).release()
  }

  /// Each process is killed at a random moment of its saves.
  @Test(arguments: StoreKind.shared)
  func `a process killed during a save leaves complete records and no stuck lock`(
    kind: StoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    for round in 0..<5 {
      let records = (0..<200).map { number in
        record("a", token: SQToken(accessToken: "\(round)-\(number)", refreshToken: "\(number)"))
      }
      let probe = try StoreProbe.start(
        kind, in: folder, ["save"], input: StoreProbe.input(records))
      try await eventually("the probe has saved records") {
        probe.output.count > 6 * (round + 1) || !probe.isRunning
      }
      probe.signal(SIGKILL)
      _ = try await probe.result()
      let store = try kind.open(folder)
      let loaded = try #require(try await store.load("a"))
      #expect(records.contains(loaded))
      try await store.save(record("b"))
      #expect(try await store.load("b") == record("b"))
    }
  }
}
