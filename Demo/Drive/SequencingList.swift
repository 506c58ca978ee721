import SequencingOAuth
import SequencingOAuthPipes

/// The list of an account's files at Sequencing.
struct SequencingList: Sendable {
  private let pipe: Pipeline.Pipe
  private let failure: @Sendable (PipeError) -> Failure

  init(
    _ url: String, _ module: AuthorizationModule, timeout: Duration,
    failure: @escaping @Sendable (PipeError) -> Failure
  ) throws(Failure) {
    self.failure = failure
    do throws(SQOAuthError) {
      let (origin, endpoint) = try DriveAddress.parts(of: url)
      var configuration = PipeConfiguration(endpoint: endpoint)
      configuration.timeout = timeout
      pipe = try Pipeline(origin, module: module).add("files", configuration)
    } catch {
      throw .refused(error)
    }
  }

  func list() async throws(Failure) -> [DriveFile] {
    do throws(PipeError) {
      return try await pipe.read([DriveFile.OfSequencing].self).map(DriveFile.init)
    } catch {
      throw failure(error)
    }
  }
}
