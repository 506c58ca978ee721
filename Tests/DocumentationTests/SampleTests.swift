import Testing

/// Compiles the samples of the README and the articles, as a reader would paste them.
@Suite(.timeLimit(.minutes(5))) struct SampleTests {
  @Test func `every sample compiles, and one that does not is named with its line`() async throws {
    let samples = try Sample.all()
    #expect(samples.contains { $0.document == "README.md" })
    let broken = Sample(
      document: "Broken.md", line: 70,
      code: "import SequencingOAuth\n\nSQOAuth.shared.noSuchMethod()\n")
    var complaints = try await Compiler().typecheck([broken] + samples)
    let expected = complaints.firstIndex { $0.hasPrefix("Broken.md:70: ") }
    let complaint = complaints.remove(at: try #require(expected))
    #expect(complaint.contains("Broken.md:72:") && complaint.contains("noSuchMethod"))
    for complaint in complaints { Issue.record("\(complaint)") }
  }

  @Test func `blocks that import something are samples, and all others are text`() {
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
