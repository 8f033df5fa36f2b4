package import Foundation

/// Makes the session store for the platform.
package enum SessionStores {
    /// - Parameters:
    ///   - folder: The folder, if sessions are kept in files; `nil` keeps the session as long as the process.
    ///   - name: Different for every project, server and provider, so that no session is sent to the wrong one.
    package static func make(in folder: URL?, name: String) -> any SessionStore {
        guard let folder else { return MemorySessionStore() }
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            return KeychainSessionStore(service: "switchyard.\(name)")
        #else
            return FileSessionStore(folder: folder, name: name)
        #endif
    }
}
