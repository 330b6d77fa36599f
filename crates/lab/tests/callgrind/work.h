/* Inlined into other files: callgrind writes fi= and fe= for it. */
static inline unsigned mix(unsigned sum, unsigned char byte) {
    sum ^= byte;
    for (int bit = 0; bit < 3; bit++) sum = sum & 1 ? sum >> 1 ^ 0xedb88320u : sum >> 1;
    return sum;
}
