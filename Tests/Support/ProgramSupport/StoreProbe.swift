import Foundation

/// The built `store-probe`, which uses a store in its own process.
package enum StoreProbe {
  package static let executable = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appending(path: "store-probe").path
}
