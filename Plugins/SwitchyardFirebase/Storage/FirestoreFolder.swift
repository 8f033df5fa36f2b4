import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat

/// Where the documents of one database are kept: what is queued for one project must never be sent to another.
enum FirestoreFolder {
    /// Of which database, and whether on Google's servers or an emulator.
    static func name(_ configuration: FirebaseConfiguration, _ endpoints: FirebaseEndpoints) -> String {
        let database = FirestoreDatabase(project: configuration.project, database: configuration.database)
        let name = SHA256.digest(of: Array("\(database.name) \(endpoints.firestore.address)".utf8))
        return "documents-\(Hex.encode(name.prefix(8)))"
    }

    /// Takes over what an earlier version kept under a name that was the same for all databases: it is taken for that of the
    /// first database on real servers that comes.
    static func make(_ surroundings: FirebaseSurroundings) throws(InfrastructureError) -> URL? {
        let name = name(surroundings.configuration, surroundings.endpoints)
        guard let place = surroundings.context.place(of: name) else { return nil }
        if !surroundings.endpoints.firestore.isEmulator, let old = surroundings.context.place(of: "documents"),
            !FileManager.default.fileExists(atPath: place.path)
        {
            // Where there is none, there is nothing to take over.
            try? FileManager.default.moveItem(at: old, to: place)
        }
        return try surroundings.folder(name)
    }
}
