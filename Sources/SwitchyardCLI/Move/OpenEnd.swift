import Foundation
import Switchyard
import SwitchyardMove

/// An end of a move, for as long as a command uses it.
struct OpenEnd {
    let end: any MoveEnd
    private let backend: Infrastructure?

    init(
        _ place: MovePlace, creates: Bool, hashes: [AuthUser.ID: PasswordHash] = [:]
    ) async throws(MoveError) {
        switch place {
        case .archive(let folder):
            end = try ArchiveEnd(folder, creates: creates)
            backend = nil
        case .backend(let file):
            let (end, backend) = try await Self.backend(file, hashes)
            (self.end, self.backend) = (end, backend)
        }
    }

    func close() async { await backend?.shutDown() }

    static func backend(
        _ file: URL, _ hashes: [AuthUser.ID: PasswordHash] = [:]
    ) async throws(MoveError) -> (end: BackendEnd, backend: Infrastructure) {
        let backend = try await infrastructure(try configuration(file), called: file.path)
        do throws(MoveError) {
            let provider = await backend.selection.provider(for: .storage)?.rawValue ?? "backend"
            return (
                try await BackendEnd(backend, name: "\(provider) (\(file.lastPathComponent))", passwordHashes: hashes),
                backend
            )
        } catch {
            await backend.shutDown()
            throw error
        }
    }

    static func configuration(_ file: URL) throws(MoveError) -> InfrastructureConfiguration {
        do throws(InfrastructureError) { return try InfrastructureConfiguration(contentsOf: file) } catch {
            throw MoveError(error.code, "The configuration “\(file.path)” cannot be used: \(error.message)")
        }
    }

    static func infrastructure(
        _ configuration: InfrastructureConfiguration, called name: String
    ) async throws(MoveError) -> Infrastructure {
        do throws(InfrastructureError) {
            return try await InfrastructureFactory(configurable: Providers.all).make(configuration)
        } catch {
            throw MoveError(error.code, "The configuration “\(name)” cannot be used: \(error.message)")
        }
    }
}
