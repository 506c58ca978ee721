import Foundation

/// The programs of the build that runs this test.
///
/// They are in the folder of the tests.
package enum BuiltProgram {
  package static func path(_ name: String) -> String {
    Bundle.main.bundleURL.appending(path: name).path
  }
}
