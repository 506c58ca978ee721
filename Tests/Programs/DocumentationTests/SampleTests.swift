import Testing

/// Compiles the samples of the README and the articles as a reader would paste them.
@Suite(.timeLimit(.minutes(20))) struct SampleTests {
  @Test func `every sample compiles, and a broken one is reported with its line`() async throws {
    let samples = try Sample.all()
    #expect(samples.contains { $0.document == "README.md" })
    var complaints = try await Compiler().compile(Self.broken.map(\.sample) + samples)
    for (sample, line, reason) in Self.broken {
      let expected = complaints.firstIndex { $0.hasPrefix("\(sample): ") }
      let complaint = complaints.remove(at: try #require(expected))
      #expect(complaint.contains(line) && complaint.contains(reason))
    }
    for complaint in complaints { Issue.record("\(complaint)") }
  }

  /// Samples that do not compile, with the line and the reason that the compiler must report.
  private static let broken = [
    (
      sample: Sample(
        document: "Unknown.md", line: 70,
        code: "import SequencingOAuth\n\nSQOAuth.shared.noSuchMethod()\n"),
      line: "Unknown.md:72:", reason: "noSuchMethod"
    ),
    // The types of this sample are correct; the error appears only during code generation.
    (
      sample: Sample(
        document: "Endless.md", line: 7,
        code: "import SequencingOAuth\n\nfunc token() -> SQToken? {\n}\n"),
      line: "Endless.md:10:", reason: "missing return"
    ),
  ]

  @Test
  func `each stand-in module names its package's version and is imported by a sample or stand-in`()
    throws
  {
    let code = try Sample.all().map(\.code).joined()
    let names = try OtherModules.names()
    try #require(names.contains("Hummingbird"))
    let texts = try names.map { try OtherModules.text(of: $0) }
    for (name, text) in zip(names, texts) {
      #expect(text.contains(#/^\/\/ .+ \d+\.\d+\.\d+\n/#), "\(name)")
      #expect((texts + [code]).contains { $0.contains("import \(name)\n") }, "\(name)")
    }
  }

  @Test func `in each sample, a do statement with a conditional catch ends with a general catch`()
    throws
  {
    for sample in try Sample.all() {
      #expect(sample.unfinishedCatches == [], "\(sample)")
    }
    let unfinished = Sample(
      document: "a.md", line: 1, code: "do {\n} catch where a {\n} catch b {\n}\n} catch {\n}\n")
    #expect(unfinished.unfinishedCatches == ["} catch b {"])
  }

  @Test func `only code blocks with an import are samples`() {
    let text = """
      ```swift
      let theirs = true
      ```
        ```swift
        // swift-tools-version: 6.2
        import PackageDescription
          let package = 1
        ```
      ```swift
      import Testing
      ```
      """
    let samples = Sample.samples(in: text, of: "a.md")
    #expect(samples.map(\.line) == [5, 10])
    #expect(samples.map(\.kind) == [.manifest, .tests])
    #expect(
      samples.first?.code
        == "// swift-tools-version: 6.2\nimport PackageDescription\n  let package = 1\n")
  }
}
