import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Downloads from nginx, an independent implementation of validators and ranges.
@Suite(.timeLimit(.minutes(3)), .requires(ProgramRequirement(programs: ["nginx", "bash"])))
struct NginxDownloadTests {
  private static let configuration = """
    daemon off; master_process off; pid @FOLDER@/pid; error_log stderr;
    events {}
    http {
      access_log off; client_body_temp_path @FOLDER@/body; proxy_temp_path @FOLDER@/proxy;
      fastcgi_temp_path @FOLDER@/fastcgi; uwsgi_temp_path @FOLDER@/uwsgi;
      scgi_temp_path @FOLDER@/scgi;
      gzip on; gzip_types *; gzip_min_length 1;
      server {
        listen 127.0.0.1:@PORT@;
        root @FOLDER@/files;
        location /again/ { alias @FOLDER@/files/; }
      }
    }
    """

  private let fixture: DownloadFixture
  /// The file's content: many more bytes than the client reads before the consumer takes them.
  private let content = pattern(8_000_000)

  init() throws {
    fixture = try DownloadFixture()
  }

  private func withServer(_ body: (_ base: String, _ file: URL) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    let file = URL(filePath: folder.file("files/data"))
    try FileManager.default.createDirectory(
      atPath: folder.file("files"), withIntermediateDirectories: true)
    try content.write(to: file)
    let server = try await Program.serving { port in
      let text = Self.configuration.replacingOccurrences(of: "@FOLDER@", with: folder.path)
        .replacingOccurrences(of: "@PORT@", with: "\(port)")
      return [
        "bash", "-c", #"printf %s "$1" >"$2" && exec nginx -e stderr -c "$2""#, "bash", text,
        folder.file("nginx.conf"),
      ]
    }
    try await body("http://127.0.0.1:\(server.port)", file)
    withExtendedLifetime((server, folder)) {}
  }

  private func request(_ url: String) throws -> WebRequest {
    WebRequest(url: try #require(URL(string: url)))
  }

  @Test func `a file that nginx would compress arrives unchanged`() async throws {
    try await withServer { base, _ in
      _ = try await fixture.download(try request("\(base)/data"))
      #expect(try Data(contentsOf: fixture.destination) == content)
      fixture.expectWholeProgress(content.count)
    }
  }

  @Test func `a cancelled download is resumed, and a changed file is downloaded again`()
    async throws
  {
    try await withServer { base, file in
      func cancelled() async throws {
        let task = Locked<Task<WebResponse, any Error>?>(nil)
        let isKnown = Gate(isOpen: false)
        let download = Task {
          await isKnown.pass()
          return try await fixture.download(try request("\(base)/again/data")) { progress in
            if progress.completed > 100_000 { task.withLock(\.self)?.cancel() }
          }
        }
        task.withLock { $0 = download }
        isKnown.open()
        await failure(.cancelled) { try await download.value }
      }
      try await cancelled()
      let first = try Data(contentsOf: fixture.partial).count
      #expect(try await fixture.download(try request("\(base)/data")).status == 200)
      try await cancelled()
      #expect(try await fixture.download(try request("\(base)/again/data")).status == 206)
      #expect(fixture.progress.first?.completed ?? 0 > 100_000)
      #expect(try Data(contentsOf: fixture.destination) == content)
      #expect(first > 100_000)

      try await cancelled()
      let other = pattern(content.count, seed: 2)
      try other.write(to: file)
      // nginx makes the entity tag from the file's modification time in seconds and its length.
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -1000)], ofItemAtPath: file.path)
      #expect(try await fixture.download(try request("\(base)/again/data")).status == 200)
      #expect(try Data(contentsOf: fixture.destination) == other)
    }
  }

  @Test func `a download whose process is killed repeatedly is completed with the right bytes`()
    async throws
  {
    try await withServer { base, _ in
      let url = "\(base)/data"
      var starts: [Int] = []
      for _ in 0..<5 {
        let probe = try TransferProbe.start(
          download: url, to: fixture.destination.path, stopsAfter: 200_000)
        starts.append(try #require(Int(try await probe.line(after: "received "))))
        try await eventually("the probe stops") { probe.isStopped }
        probe.signal(SIGKILL)
        #expect(try await probe.result().status == 128 + SIGKILL)
        #expect(!FileManager.default.fileExists(atPath: fixture.destination.path))
      }
      let probe = try TransferProbe.start("download", url, fixture.destination.path)
      starts.append(try #require(Int(try await probe.line(after: "received "))))
      #expect(try await probe.result().output.contains("\nstatus 206\n"))
      #expect(zip(starts, starts.dropFirst()).allSatisfy { $0 + 200_000 <= $1 }, "\(starts)")
      #expect(try Data(contentsOf: fixture.destination) == content)
      #expect(try fixture.names == ["file.bin"])
    }
  }

  @Test func `a write error names the file, and the download resumes later`()
    async throws
  {
    try await withServer { base, _ in
      try Data("old".utf8).write(to: fixture.destination)
      let url = "\(base)/data"
      let probe = try TransferProbe.start(
        "download", url, fixture.destination.path, fileLimit: 1000)
      let result = try await probe.result()
      #expect(result.errors.hasPrefix("error file_failed: \(fixture.partial.path): "))
      #expect(try Data(contentsOf: fixture.destination) == Data("old".utf8))
      #expect(try Data(contentsOf: fixture.partial) == content.prefix(1_024_000))
      _ = try await fixture.download(try request(url))
      #expect(fixture.progress.first?.completed == 1_024_000)
      #expect(try Data(contentsOf: fixture.destination) == content)
    }
  }

  /// Only the script's processes see the small disk, so the script looks at the files.
  private static let fullDisk = """
    mount -t tmpfs -o size=1m tmpfs "$FOLDER"
    "$PROBE" download "$URL" "$FOLDER/file.bin"
    echo "exit $?"
    stat -c 'stored %s' "$FOLDER/file.bin.partial"
    mount -o remount,size=100m "$FOLDER"
    "$PROBE" download "$URL" "$FOLDER/file.bin"
    cmp "$FOLDER/file.bin" "$FILE" && ls -A "$FOLDER"
    """

  @Test(.requires("the right to mount a file system", SmallDisk.isAllowed))
  func `the error for a full disk names the file, and the download resumes once there is space`()
    async throws
  {
    try await withServer { base, file in
      let result = try await ChildProcess.run(
        SmallDisk.unshare + ["bash", "-c", Self.fullDisk],
        environment: [
          "FOLDER": fixture.folder.path, "PROBE": TransferProbe.executable, "URL": "\(base)/data",
          "FILE": file.path,
        ])
      #expect(
        result.errors.hasPrefix("error file_failed: \(fixture.partial.path): "), "\(result.errors)")
      #expect(result.errors.contains("No space left on device"), "\(result.errors)")
      #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
      let match = try #require(
        result.output.firstMatch(of: /\nexit 1\nstored (\d+)\n([\s\S]*)$/), "\(result.output)")
      let (stored, rest) = (try #require(Int(match.output.1)), match.output.2)
      #expect(stored > 0 && stored < 1 << 20)
      #expect(rest.hasPrefix("received \(stored)\n"), "\(result.output)")
      #expect(rest.contains("\nstatus 206\n"), "\(result.output)")
      #expect(rest.hasSuffix("\nfile.bin\n"), "\(result.output)")
    }
  }
}
