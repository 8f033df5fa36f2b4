package import Foundation
package import Switchyard
import Synchronization

/// The shared context of a ``LocalSupabase``'s services.
package struct LocalSupabaseContext: Sendable {
    package let options: LocalSupabaseOptions
    package let database: SupabaseDatabase
    let access: SupabaseAccess
    /// The folder for the services' files. It exists.
    package let files: URL
    private let origin: Origin

    private final class Origin: Sendable {
        let text = Mutex("")
    }

    init(_ options: LocalSupabaseOptions, _ database: SupabaseDatabase, _ access: SupabaseAccess, files: URL) {
        self.options = options
        self.database = database
        self.access = access
        self.files = files
        origin = Origin()
    }

    package var now: Timestamp { options.now() }

    /// Such as "http://127.0.0.1:8080"; known once the server listens.
    package internal(set) var url: String {
        get { origin.text.withLock { $0 } }
        nonmutating set { origin.text.withLock { $0 = newValue } }
    }
}
