import FoundationEssentials
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import SequencingOAuthGRPC

/// The seeds and the findings of the fuzzers as ordinary tests.
@Suite(.timeLimit(.minutes(1))) struct ReplayTests {
  static let folder = String(#filePath.dropLast("ReplayTests.swift".count)) + "Seeds/"

  static func files(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  @Test(arguments: Fuzzer.all.map(\.name))
  func `no seed input or earlier finding, whole or truncated, breaks its fuzzer's rules`(
    name: String
  ) throws {
    let fuzzer = try #require(Fuzzer.all.first { $0.name == name })
    let files = try Self.files(in: Self.folder + name)
    #expect(!files.isEmpty)
    for file in files {
      let input = try Data(contentsOf: URL(filePath: "\(Self.folder)\(name)/\(file)"))
      #expect(throws: Never.self, "\(name)/\(file)") { try fuzzer.check(input) }
      // Truncated inputs are among the first that a fuzzer tries.
      for end in stride(from: 0, to: min(input.count, 512), by: 7) {
        #expect(throws: Never.self, "the first \(end) bytes of \(name)/\(file)") {
          try fuzzer.check(input.prefix(end))
        }
      }
    }
  }

  @Test func `the fuzzer's key decrypts the encrypted seed file with two accounts`() throws {
    let file = try Data(contentsOf: URL(filePath: Self.folder + "sealed-store/two-accounts"))
    let document = try SealedFormat(key: Fuzzer.key).decode(file)
    #expect(try document.ids.sorted().map { try document.record($0)?.id } == ["alice", "bob"])
  }

  @Test func `the seed recorded from a grpcio server contains four successful responses`() throws {
    let file = try Data(contentsOf: URL(filePath: Self.folder + "grpc-connection/grpcio-answers"))
    let client = FuzzedClient([UInt8](file), piece: 100)
    try client.run()
    for stream in client.streams {
      let result = try #require(stream.result)
      #expect(throws: Never.self) { try result.get() }
    }
    #expect(client.streams.count == 4)
  }

  @Test func `each fuzzer has a folder of seeds, and there is no other folder`() throws {
    #expect(try Self.files(in: Self.folder) == Fuzzer.all.map(\.name).sorted())
  }
}
