// The function that libFuzzer calls. `Scripts/fuzz` compiles this file. It is in no target of the
// package.
import FoundationEssentials
import Glibc

private let fuzzer: Fuzzer = {
  let name = ProcessInfo.processInfo.environment["FUZZER"] ?? ""
  guard let fuzzer = Fuzzer.all.first(where: { $0.name == name }) else {
    say("set FUZZER to one of: " + Fuzzer.all.map(\.name).joined(separator: " "))
    exit(2)
  }
  return fuzzer
}()

/// Checks one input.
///
/// A finding ends the process, so that libFuzzer keeps the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = bytes.map { Data(bytes: $0, count: count) } ?? Data()
  do {
    try fuzzer.check(input)
    return 0
  } catch {
    say("\(fuzzer.name): \(error)")
    abort()
  }
}

private func say(_ text: String) {
  let line = Array((text + "\n").utf8)
  _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
}
