// What the page takes for granted.
let bobID = "bob"
