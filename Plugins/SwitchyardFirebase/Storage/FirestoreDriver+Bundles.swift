import Foundation
import Switchyard
import SwitchyardFirestoreFormat

extension FirestoreDriver {
    /// Reads a bundle in Firestore's format, made for this project and database.
    func bundle(from data: Data) async throws(StorageError) -> DocumentBundle {
        do throws(FirestoreFormatError) {
            return try FirestoreBundleReader.bundle(data, in: service.database)
        } catch {
            throw StorageError(
                .invalidArgument, "This is not a bundle of this database's documents.", underlying: error)
        }
    }
}
