package import Foundation

extension ModuleContext {
    /// A folder for one service's state, made when it is missing; `nil` when nothing is to outlast the process.
    package func folder(_ name: String) throws(InfrastructureError) -> URL? {
        guard let parent = stateFolder else { return nil }
        let folder = parent.appendingPathComponent(name, isDirectory: true)
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw InfrastructureError(
                .localStore, "The state folder “\(folder.path)” cannot be made.", underlying: error)
        }
        return folder
    }
}
