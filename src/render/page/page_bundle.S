/* The page's program: the HTML file that `make page` made (PAGE_FILE); empty if that failed. */
	.section .rodata
	.globl page_bundle
	.globl page_bundle_size
	.type page_bundle, %object
	.type page_bundle_size, %object
page_bundle:
#ifdef PAGE_FILE
	.incbin PAGE_FILE
#endif
page_bundle_end:
	.byte 0
	.size page_bundle, . - page_bundle
	.balign 8
page_bundle_size:
	.8byte page_bundle_end - page_bundle
	.size page_bundle_size, 8
	.section .note.GNU-stack, "", %progbits
