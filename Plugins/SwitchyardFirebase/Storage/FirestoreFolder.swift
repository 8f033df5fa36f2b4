import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat

/// The folder for the documents of one database: writes queued for one project must never be sent to another.
enum FirestoreFolder {
    /// The folder's name, which depends on the database and on whether it is on Google's servers or an emulator.
    static func name(_ configuration: FirebaseConfiguration, _ endpoints: FirebaseEndpoints) -> String {
        let database = FirestoreDatabase(project: configuration.project, database: configuration.database)
        let name = SHA256.digest(of: Array("\(database.name) \(endpoints.firestore.address)".utf8))
        return "documents-\(Hex.encode(name.prefix(8)))"
    }

    /// The folder, created if needed. It takes over the folder of an earlier version, whose name was the same for all databases
    /// and which goes to the first database on real servers that is opened.
    static func make(_ surroundings: FirebaseContext) throws(InfrastructureError) -> URL? {
        let name = name(surroundings.configuration, surroundings.endpoints)
        guard let place = surroundings.context.place(of: name) else { return nil }
        if !surroundings.endpoints.firestore.isEmulator, let old = surroundings.context.place(of: "documents"),
            !FileManager.default.fileExists(atPath: place.path)
        {
            // If it does not exist, there is nothing to take over.
            try? FileManager.default.moveItem(at: old, to: place)
        }
        return try surroundings.folder(name)
    }
}
