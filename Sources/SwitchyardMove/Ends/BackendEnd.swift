public import Switchyard

/// A backend, with the project's own credentials.
///
/// ```swift
/// let end = try await BackendEnd(backend)
/// ```
public struct BackendEnd: MoveEnd {
    public let name: String
    public let documents: MoveService<any MoveDocuments>
    public let accounts: MoveService<any MoveAccounts>
    public let files: MoveService<any MoveFiles>

    /// - Parameters:
    ///   - backend: Its configuration needs a project credential.
    ///   - name: By default, that of the storage's provider.
    ///   - passwordHashes: The hashes of passwords by account, since no backend lists them; see <doc:MovingToAnotherBackend>.
    /// - Throws: `.cancelled`. What the backend lacks is said by its services.
    public init(
        _ backend: Infrastructure, name: String? = nil, passwordHashes: [AuthUser.ID: PasswordHash] = [:]
    ) async throws(MoveError) {
        switch await Self.project(of: backend) {
        case .success(let project):
            let shown = name ?? project.storage.provider.rawValue
            self.name = shown
            documents = .present(BackendDocuments(project.storage))
            files = try await during("Looking for the files of \(shown)") {
                try await BackendFiles.service(of: project.files)
            }
        case .failure(let error):
            self.name = name ?? "backend"
            documents = .absent(error.message)
            files = .absent(error.message)
        }
        do throws(InfrastructureError) {
            accounts = .present(BackendAccounts(admin: try await backend.admin(), hashes: passwordHashes))
        } catch {
            accounts = .absent(error.message)
        }
    }

    private static func project(of backend: Infrastructure) async -> Result<ProjectClients, InfrastructureError> {
        do throws(InfrastructureError) { return .success(try await backend.actingAsProject()) } catch {
            return .failure(error)
        }
    }
}
