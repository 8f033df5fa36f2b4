package import Switchyard
import SwitchyardBytes

extension Timestamp {
    /// Accepts any number of fraction digits, and `Z` or an offset; drops anything below a nanosecond.
    package init(firestore text: String) throws(FirestoreFormatError) {
        guard let moment = RFC3339.parse(text) else { throw FirestoreFormatError("a timestamp that is malformed") }
        do throws(StorageError) {
            try self.init(validatingSeconds: moment.seconds, nanoseconds: moment.nanoseconds)
        } catch {
            throw FirestoreFormatError("a timestamp outside the years 1 to 9999")
        }
    }

    package var firestoreText: String {
        RFC3339.format(RFC3339.Moment(seconds: seconds, nanoseconds: nanoseconds))
    }
}

extension JSONObject {
    func timestamp(_ key: String) throws(FirestoreFormatError) -> Timestamp? {
        guard let text = try string(key) else { return nil }
        return try Timestamp(firestore: text)
    }
}
