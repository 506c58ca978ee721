import FoundationEssentials
import Glibc
import OAuthSandbox

// Prints a table of what the SDK costs beside the bare work that it cannot avoid. Build it with
// optimization; it ends by itself within a minute.

if CommandLine.arguments.contains(ByteServer.argument) { ByteServer.serve() }

let server = try ByteServer()
defer { server.stop() }
print(Table.header(baseline: "bare", subject: "SDK"))
if CommandLine.arguments.contains("--seq") {
  for _ in 0..<5 { print(try await HTTPBenchmarks.all(server)[0].subject().rate) }
  exit(0)
}
if CommandLine.arguments.contains("--raw") {
  for _ in 0..<5 { print(try await HTTPBenchmarks.all(server)[1].baseline().rate) }
  exit(0)
}
if CommandLine.arguments.contains("--con") {
  for _ in 0..<5 { print(try await HTTPBenchmarks.all(server)[1].subject().rate) }
  exit(0)
}
for benchmark in try HTTPBenchmarks.all(server) {
  print(Table.row(try await benchmark.measure(rounds: 9)))
}
// Before the sandbox, which keeps every request that it gets.
print("memory at its peak: \(try Memory.peak()) MB")
let sandbox = try await SandboxServer.start()
for benchmark in SignInBenchmarks.all(sandbox) {
  print(Table.row(try await benchmark.measure(rounds: 9)))
}
await sandbox.stop()
