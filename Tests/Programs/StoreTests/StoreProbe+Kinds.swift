import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport

extension StoreProbe {
  /// Starts a command on the store of a folder.
  static func start(
    _ kind: StoreKind, in folder: TemporaryFolder, _ command: [String], user: UInt32? = nil,
    environment: [String: String?] = [:], input: ChildProcess.Input = .none
  ) throws -> ChildProcess {
    let user = user.map { ["--user", "\($0)"] } ?? []
    return try ChildProcess(
      [executable] + user + [kind.address?(folder) ?? ""] + command, environment: environment,
      input: input)
  }

  /// Runs a command to its end.
  static func run(
    _ kind: StoreKind, in folder: TemporaryFolder, _ command: [String], user: UInt32? = nil,
    environment: [String: String?] = [:], input: ChildProcess.Input = .none
  ) async throws -> ChildProcess.Result {
    try await start(
      kind, in: folder, command, user: user, environment: environment, input: input
    ).result()
  }

  /// Returns records in the input format of the probe's `save`.
  static func input(_ records: [AccountRecord]) throws -> ChildProcess.Input {
    .text(try lines(records))
  }

  /// Returns a line of JSON for each record.
  static func lines(_ records: [AccountRecord]) throws -> String {
    try records.map { record in
      String(decoding: try JSONEncoder().encode(record), as: UTF8.self) + "\n"
    }.joined()
  }
}

extension ChildProcess.Result {
  /// The code of the error with which the probe ended.
  var code: SQOAuthError.Code? {
    guard let line = errors.split(separator: "\n").last(where: { $0.hasPrefix("error ") }),
      let code = line.dropFirst(6).split(separator: ":").first
    else { return nil }
    return SQOAuthError.Code(rawValue: String(code))
  }

  /// Returns the record that the probe's `load` printed.
  func record() throws -> AccountRecord? {
    guard output != "none\n" else { return nil }
    return try JSONDecoder().decode(AccountRecord.self, from: Data(output.utf8))
  }
}
