import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat

/// The outcome of a call that answers with a list.
enum ListAnswer<Contents: Sendable>: Sendable {
    case complete(Contents)
    case refused(FirestoreFailure)
    case unreadable(StorageError)
}

/// Decodes a list from the pieces of its text, one element after the other, into what is wanted of it.
struct ListReader<Contents: Sendable> {
    typealias Take = @Sendable (_ element: JSON, _ contents: inout Contents) throws(FirestoreFormatError) -> Void

    private var list = JSONStream(.elements, options: FirestoreService.parsing)
    private var contents: Contents
    private let take: Take

    init(into contents: Contents, _ take: @escaping Take) {
        self.contents = contents
        self.take = take
    }

    /// The outcome, if it is already known because the answer is not a list of elements.
    mutating func take(_ bytes: [UInt8]) -> ListAnswer<Contents>? {
        list.append(bytes)
        return decodeAll()
    }

    mutating func finish() -> ListAnswer<Contents> {
        list.finish()
        return decodeAll() ?? .complete(contents)
    }

    private mutating func decodeAll() -> ListAnswer<Contents>? {
        do {
            while let json = try list.next() {
                // An error can follow some elements, which are then discarded.
                if let error = json["error"] { return .refused(FirestoreFailure(error: error, ifUnknown: .unknown)) }
                try take(json, &contents)
            }
            return nil
        } catch let error as FirestoreFormatError {
            return .unreadable(StorageError(error))
        } catch {
            return .unreadable(StorageError(.unavailable, "The server's response was cut short.", underlying: error))
        }
    }
}
