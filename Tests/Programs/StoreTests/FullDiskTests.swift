import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// A full disk: a small file system that only the test's processes see.
///
/// It disappears with these processes.
@Suite(.timeLimit(.minutes(3)), .requires("the right to mount a file system", SmallDisk.isAllowed))
struct FullDiskTests {
  @Test(arguments: StoreKind.onDisk)
  func `a save to a full disk throws, keeps the old record, and succeeds once there is space`(
    kind: StoreKind
  ) async throws {
    let (folder, input) = (try TemporaryFolder(), try TemporaryFolder())
    let old = record("a", token: SQToken(accessToken: "old"))
    // The token is too large for any space that a store may have reserved.
    let new = record(
      "a", token: SQToken(accessToken: String(repeating: "new", count: 100_000)))
    try StoreProbe.lines([old, record("b")]).write(
      toFile: input.file("old"), atomically: false, encoding: .utf8)
    try StoreProbe.lines([new]).write(
      toFile: input.file("new"), atomically: false, encoding: .utf8)
    let result = try await ChildProcess.run(
      SmallDisk.unshare + ["bash", "-c", FullDisk.script],
      environment: [
        "FOLDER": folder.path, "INPUT": input.path, "PROBE": StoreProbe.executable,
        "STORE": kind.address?(folder),
      ])
    let lines = result.output.split(separator: "\n").map(String.init)
    try #require(lines.count == 9, "\(result.output.prefix(2000))\(result.errors)")
    #expect(Array(lines[0...1]) == ["saved", "saved"])
    #expect(lines[2] == "full 1")
    #expect(result.code == .storeFailed, "\(result.errors)")
    // A database may need disk space even for reading. It must never appear empty.
    #expect(try kind.needsRoomToRead && lines[3] == "error" || decoded(lines[3]) == old)
    #expect(try decoded(lines[4]) == old)
    #expect(try decoded(lines[5]) == record("b"))
    #expect(lines[6] == "saved")
    #expect(try decoded(lines[7]) == new)
    #expect(try decoded(lines[8]) == record("b"))
  }

  /// The disk is full when the answer arrives, and then the server accepts only the new token.
  @Test(arguments: StoreKind.landing)
  func `no token is lost if the disk fills up during a refresh`(kind: StoreKind) async throws {
    let (folder, input) = (try TemporaryFolder(), try TemporaryFolder())
    let old = record("a", token: SQToken(accessToken: "old"))
    let new = record("a", token: SQToken(accessToken: "new"))
    for (name, record) in [("old", old), ("new", new)] {
      try StoreProbe.lines([record]).write(
        toFile: input.file(name), atomically: false, encoding: .utf8)
    }
    let result = try await ChildProcess.run(
      SmallDisk.unshare + ["bash", "-c", FullDisk.refreshScript],
      environment: [
        "FOLDER": folder.path, "INPUT": input.path, "PROBE": StoreProbe.executable,
        "STORE": kind.address?(folder),
      ])
    let lines = result.output.split(separator: "\n").map(String.init)
    try #require(lines.count >= 6, "\(result.output)\(result.errors)")
    #expect(Array(lines[0...2]) == ["saved", "reserved", "landed"])
    #expect(lines[3] == "saved", "\(result.errors)")
    #expect(try decoded(lines[4]) == new)
    // The next refresh sends nothing until the store has the write-ahead copy's content. A database
    // may already have this content, if its log had enough space.
    let refused = kind.needsRoomToRead ? nil : "full 1"
    #expect(lines[5] == refused ?? lines[5], "\(result.errors)")
    #expect(try decoded(lines[lines.count - 4]) == new)
    #expect(lines.suffix(3) == ["reserved", "landed", "saved"])
  }

  private func decoded(_ line: String) throws -> AccountRecord {
    try JSONDecoder().decode(AccountRecord.self, from: Data(line.utf8))
  }
}

/// The commands that a test's processes run on a small disk.
enum FullDisk {
  static let script = """
    set -eu
    mount -t tmpfs -o size=2m,mode=0700 tmpfs "$FOLDER"
    "$PROBE" "$STORE" save <"$INPUT/old"
    cat /dev/zero >"$FOLDER/filler" 2>/dev/null || true
    status=0
    "$PROBE" "$STORE" save <"$INPUT/new" || status=$?
    echo "full $status"
    "$PROBE" "$STORE" load a || echo "error"
    rm "$FOLDER/filler"
    "$PROBE" "$STORE" load a
    "$PROBE" "$STORE" load b
    "$PROBE" "$STORE" save <"$INPUT/new"
    "$PROBE" "$STORE" load a
    "$PROBE" "$STORE" load b
    """

  static let refreshScript = """
    set -eu
    mount -t tmpfs -o size=2m,mode=0700 tmpfs "$FOLDER"
    "$PROBE" "$STORE" save <"$INPUT/old"
    "$PROBE" "$STORE" next "$FOLDER/filler" <"$INPUT/new"
    "$PROBE" "$STORE" load a
    status=0
    "$PROBE" "$STORE" next <"$INPUT/new" || status=$?
    echo "full $status"
    rm "$FOLDER/filler"
    "$PROBE" "$STORE" load a
    "$PROBE" "$STORE" next <"$INPUT/new"
    """
}
